/* A small kernel: two tasks share a semaphore, a clock tick may come at any time, and the dispatcher lets the more urgent
   ready task run until it waits or the tick takes the processor away. */
#define TASKS 2
#define NONE TASKS

bool ready[TASKS] = true;
byte running = NONE;
byte holder = NONE;
byte work;
bool tick;

#define mine (running == _pid)

active [TASKS] proctype Task() {
    byte kept;

    do
    :: atomic { mine && holder == NONE -> holder = _pid };
       mine -> kept = work;
       mine -> work = (kept + 1) % 64;
       mine -> kept = 0;
       atomic { mine -> holder = NONE; ready[1 - _pid] = true }
    :: atomic { mine && holder == 1 - _pid -> ready[_pid] = false; running = NONE };
       ready[_pid] && mine
    :: atomic { mine -> running = NONE }
    od
}

active proctype Clock() {
    do
    :: !tick -> tick = true
    od
}

active proctype Dispatcher() {
    do
    :: tick -> running = NONE; tick = false
    :: atomic { running == NONE && ready[0] -> running = 0 }
    :: atomic { running == NONE && !ready[0] && ready[1] -> running = 1 }
    :: atomic { running == NONE && ready[1] && tick -> running = 1; tick = false }
    od
}
