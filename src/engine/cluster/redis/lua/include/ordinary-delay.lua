local ORDINARY = 1000000 -- Microseconds. Redis records longer delays only: a resuming client gets the last seconds again anyway.
