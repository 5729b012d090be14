"""Three threads and one that comes later, each calling kill(2) with signal 0 200 times.

Arguments: none, or the paths of two FIFOs: it begins when the first is written to, and closes the second at its end.
"""

import os
import sys
import threading
import time

go = threading.Event()


def calls():
    go.wait()
    for _ in range(200):
        os.kill(os.getpid(), 0)
        time.sleep(0.003)


threads = [threading.Thread(target=calls) for _ in range(2)]
for thread in threads:
    thread.start()
if len(sys.argv) > 2:
    with open(sys.argv[1]) as begin:
        begin.read()
late = threading.Thread(target=calls)
late.start()
go.set()
calls()
for thread in threads + [late]:
    thread.join()
print(*[os.getpid()] + [thread.native_id for thread in threads], late.native_id, flush=True)
if len(sys.argv) > 2:
    open(sys.argv[2], "w").close()
