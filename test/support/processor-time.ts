/** Returns the CPU time of `work` in milliseconds, which does not depend on the machine's load. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
