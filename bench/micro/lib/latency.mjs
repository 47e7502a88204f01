/**
 * Milliseconds of a bench that has come to its end; throws what stopped it.
 * @param {import('tinybench').Task} task
 */
export function latencyOf({ name, result }) {
  if (result.state === 'errored') throw result.error;
  if (result.state !== 'completed') throw new Error(`${name} was not measured: ${result.state}`);
  return result.latency;
}
