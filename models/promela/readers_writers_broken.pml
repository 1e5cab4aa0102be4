// Readers and writers whose writer first looks for readers and then locks them out: a
// reader that comes in between reads what is being written.
// expect: violated assertion preemptions=2 steps=13
// plain: states=123 transitions=191

byte reading;
bool writing;
byte page[2];       // both halves are equal whenever nobody writes

active proctype Reader() {
    byte first;

    atomic { !writing -> reading++ };
    first = page[0];
    assert(first == page[1]);
    reading--
}

active proctype Writer() {
    byte edition;

    do
    :: edition < 2 ->
       edition++;
       reading == 0;            // looks ...
       writing = true;          // ... and locks
       page[0] = edition;
       page[1] = edition;
       writing = false
    :: else -> break
    od
}
