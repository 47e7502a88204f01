/**
 * Returns the milliseconds of a finished bench task, or throws the error that stopped it.
 * @param {import('tinybench').Task} task
 */
export function latencyOf({ name, result }) {
  if (result.state === 'errored') throw result.error;
  if (result.state !== 'completed') throw new Error(`${name} was not measured: ${result.state}`);
  return result.latency;
}
