/* A net: a variable is a place, and its value the number of tokens there. */

byte p_left = 1;
byte p_right;

#define COVERED (p_left >= 1 && p_right >= 1 || p_right >= 2 || p_left >= 1 && p_right >= 1 || p_left >= 2)

active proctype net() {
  atomic {
    assert(!COVERED)
  }
end:
  do
  :: atomic { /* go */ p_left >= 1 -> p_left = p_left - 1; p_right = p_right + 1; assert(!COVERED) }
  od
}
