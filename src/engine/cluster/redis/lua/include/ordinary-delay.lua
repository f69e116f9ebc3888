local ORDINARY = 1000000 -- A longer delay is recorded: resuming clients go back that far. They get the last seconds again anyway.
