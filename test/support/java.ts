/** For servers in Java that run for a minute: code is compiled once and quickly, and garbage collected by one thread. Half of the processor time. */
export const RUNS_SHORTLY = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
