/**
 * An HTTP client (undici) that only connects to the public internet, whatever a URL or a name server says. Each address
 * is checked after the name was looked up, the connection is made to exactly that address, and the socket's peer is
 * checked again. A name that changes its address between two requests gains nothing. Does not follow redirects.
 *
 * Belongs to one thread.
 */
import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { lookupAddresses, type AddressLookup } from './name-lookup.js';
import { bareHost, connectionFault, isCalled, OutboundRefusedError, type OutboundRules } from './url-policy.js';

export type { AddressLookup } from './name-lookup.js';

export interface GuardedAgentOptions {
  readonly rules: OutboundRules;
  /** Connections to one origin at a time; further requests wait. */
  readonly connectionsMax: number;
  readonly connectTimeoutMs: number;
  /** Time that an idle connection is kept. */
  readonly keepAliveMs: number;
  readonly lookup?: AddressLookup;
}

/** Creates the client. Its requests reject with an OutboundRefusedError if the guard refuses. */
export function createGuardedAgent(options: GuardedAgentOptions): Agent {
  return new Agent({
    connections: options.connectionsMax,
    pipelining: 1,
    keepAliveTimeout: options.keepAliveMs,
    keepAliveMaxTimeout: options.keepAliveMs,
    connect: guardedConnector(options),
  });
}

function guardedConnector(options: GuardedAgentOptions): buildConnector.connector {
  const { rules, connectTimeoutMs: timeout } = options;
  const connectAnywhere = buildConnector({ timeout });
  const connectors = {
    http: buildConnector({ timeout, lookup: guardedLookup('http:', options) }),
    https: buildConnector({ timeout, lookup: guardedLookup('https:', options) }),
  };
  return (target, callback) => {
    const { protocol } = target;
    const host = bareHost(target.hostname);
    if (isCalled(protocol, rules) && rules.allowed_hosts.includes(host)) {
      connectAnywhere(target, endedByFirstError(callback));
      return;
    }
    // An IP address is never looked up, so it is checked here.
    const fault = isIP(host) === 0 ? undefined : connectionFault(protocol, host, rules);
    if (fault !== undefined) {
      callback(refusal(host, fault), null);
      return;
    }
    const connect = protocol === 'https:' ? connectors.https : connectors.http;
    const withFirstError = endedByFirstError(callback);
    connect(target, (...[error, socket]) => {
      if (error !== null) callback(error, null);
      else withCheckedPeer(socket, (address) => connectionFault(protocol, address, rules), host, withFirstError);
    });
  };
}

/**
 * Destroys the socket at its first error. TLS errors after the handshake, such as TLS 1.3 asking for a client
 * certificate, are emitted by the socket, which stays open: the close that follows would be taken for the cause.
 */
function endedByFirstError(callback: buildConnector.Callback): buildConnector.Callback {
  return (...[error, socket]) => {
    if (error !== null) {
      callback(error, null);
      return;
    }
    socket.once('error', () => socket.destroy());
    callback(null, socket);
  };
}

/** Checks the peer that the socket is really connected to. */
function withCheckedPeer(
  socket: Socket,
  faultOf: (address: string) => string | undefined,
  host: string,
  callback: buildConnector.Callback,
): void {
  const fault = socket.remoteAddress === undefined ? 'unknown address' : faultOf(socket.remoteAddress);
  if (fault === undefined) {
    callback(null, socket);
    return;
  }
  socket.destroy();
  callback(refusal(host, fault), null);
}

/** Returns a look-up that only yields addresses that may be connected to; it fails if there is none. */
function guardedLookup(protocol: string, { rules, lookup = lookupAddresses }: GuardedAgentOptions): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, '');
        return;
      }
      const faults = addresses.map(({ address }) => connectionFault(protocol, address, rules));
      const good = addresses.filter((_, position) => faults[position] === undefined);
      const [first] = good;
      if (first === undefined) callback(refusal(hostname, faults[0] ?? 'no address'), '');
      else if (options.all === true) callback(null, good);
      else callback(null, first.address, first.family);
    });
  };
}

/**
 * Returns an address of the host to which a TLS connection of another protocol may go. The connection has to be made to
 * exactly that address, verifying the certificate of the name. Rejects with an OutboundRefusedError, or the look-up's
 * error.
 */
export function guardedAddress(host: string, rules: OutboundRules, lookup?: AddressLookup): Promise<string> {
  const name = bareHost(host);
  if (isIP(name) !== 0) {
    const fault = connectionFault('https:', name, rules);
    return fault === undefined ? Promise.resolve(name) : Promise.reject(refusal(name, fault));
  }
  const isAllowed = rules.allowed_hosts.includes(name);
  return new Promise((resolve, reject) => {
    // A name that the operator allows may be known to this machine only.
    const asked = lookup ?? (isAllowed ? systemLookup : lookupAddresses);
    asked(name, { all: true }, (error, addresses) => {
      if (error !== null) {
        reject(error);
        return;
      }
      const faults = addresses.map(({ address }) =>
        isAllowed ? undefined : connectionFault('https:', address, rules),
      );
      const good = addresses.find((_, position) => faults[position] === undefined);
      if (good === undefined) reject(refusal(name, faults[0] ?? 'no address'));
      else resolve(good.address);
    });
  });
}

function refusal(host: string, fault: string): OutboundRefusedError {
  return new OutboundRefusedError(`The host '${host}' cannot be called (${fault}).`);
}
