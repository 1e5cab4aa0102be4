// Readers and writers under one lock that prefers readers: any number may read, a writer
// is alone. Safe, but readers who relay each other keep a writer waiting forever.
// expect: holds
// plain: states=44 transitions=125
// property exclusion: holds
// property writers_alone: holds
// property writer_served: violated
// property lively: holds

#define READERS 2
#define WRITERS 2

byte reading, writing;

active [READERS] proctype Reader() {
    do
    :: atomic { writing == 0 -> reading++ };
reads:
       assert(writing == 0);
       reading--
    od
}

active [WRITERS] proctype Writer() {
    do
    :: skip;
waits:
       atomic { writing == 0 && reading == 0 -> writing++ };
writes:
       assert(writing == 1 && reading == 0);
       writing--
    od
}

ltl exclusion { [] (writing == 0 || reading == 0) }
ltl writers_alone { [] (writing <= 1) }
ltl writer_served { [] (Writer[2]@waits -> <> Writer[2]@writes) }
ltl lively { []<> (reading > 0 || writing > 0) }
