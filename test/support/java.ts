/**
 * JVM options for short-lived servers: quick compilation, and garbage collection by one thread. They halve the CPU
 * time.
 */
export const RUNS_SHORTLY = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
