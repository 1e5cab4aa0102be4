// The reverse of a trace assertion: what may never be seen. A door that is locked twice
// without being opened in between matches the whole of the `notrace`, which is an error.
// expect: holds
// plain: states=8 transitions=9
// property trace: violated

mtype = { lock, unlock };

chan door = [1] of { mtype };

active proctype Owner() {
    do
    :: door!lock; door!unlock
    :: door!lock; break
    od;
    door!lock
}

active proctype Door() {
end:
    do
    :: door?lock
    :: door?unlock
    od
}

notrace {
    do
    :: door!lock;
       if
       :: door!unlock
       :: door!lock; break
       fi
    od
}
