#define N 2
byte x, turn[N];
mtype = { red, green };
chan c = [1] of { mtype, byte };
active [N] proctype P() {
  byte i = _pid;
  do
  :: atomic { x < 2 -> x++ }; c!red, i
  :: c?eval(red), i -> turn[i % N] = i
  :: timeout -> break
  od unless { x > 9 };
end: assert(x <= N && !(i == 7))
}
