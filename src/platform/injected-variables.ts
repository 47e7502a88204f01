/**
 * Recognizes variables that nobody has written: Kubernetes gives each container some for every service of its
 * namespace, and Docker for every linked container, named after it. A service `gannet` causes GANNET_SERVICE_HOST,
 * GANNET_SERVICE_PORT, GANNET_PORT=tcp://10.0.0.1:8400, GANNET_PORT_8400_TCP_ADDR and so on; those of `gannet-search`
 * begin with GANNET_SEARCH.
 */
type Environment = Readonly<Record<string, string | undefined>>;

const ADDRESS = /^(?:tcp|udp|sctp):\/\//;
/** What follows the name of the service. */
const INJECTED =
  /^(.+?)_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/;

/**
 * True if the variable was injected. Requires other variables of the same service, since a single one could be
 * anybody's.
 */
export function isInjected(name: string, env: Environment): boolean {
  const service = INJECTED.exec(name)?.[1];
  if (service === undefined) return false;
  const hasPair = env[`${service}_SERVICE_HOST`] !== undefined && env[`${service}_SERVICE_PORT`] !== undefined;
  return hasPair || ADDRESS.test(env[`${service}_PORT`] ?? '');
}

/** Returns a hint about a variable refused for an injected value, with a leading space; empty for others. */
export function injectedHint(variable: string, text: string): string {
  if (!variable.endsWith('_PORT') || !ADDRESS.test(text)) return '';
  const service = variable.slice(0, -'_PORT'.length).toLowerCase().replaceAll('_', '-');
  return (
    ` Kubernetes sets it so where a Service is named '${service}' (Docker: a linked container):` +
    ` set ${variable} to the port in the container's env, or enableServiceLinks: false in the pod's spec, or name the Service otherwise.`
  );
}
