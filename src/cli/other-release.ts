/**
 * Detects a service of another release, for instance one not restarted after an upgrade, when it answers unexpectedly.
 */
import { isSystemError, OperatorError, packageVersion, ServiceError } from '../platform/index.js';
import { ConfigError } from '../platform/config.js';
import { CommandError } from './exit-codes.js';
import { describeProblem, ProblemError } from './problem.js';
import type { ServiceClient } from './service-client.js';

/** Errors of such a service for an unknown path, method or member. */
const UNKNOWN: ReadonlySet<string> = new Set(['not-found', 'method-not-allowed', 'invalid-parameter']);
const FORESEEN = [CommandError, ServiceError, OperatorError, ConfigError];

/** Returns the failure, or a CommandError if the service is of another release. Never rejects. */
export async function toldOfOtherRelease(client: ServiceClient, failure: unknown): Promise<unknown> {
  const isProblem = failure instanceof ProblemError;
  const mayBe = isProblem ? UNKNOWN.has(failure.problem.code) : !isForeseen(failure);
  if (client.transport !== 'control socket' || !mayBe) return failure;
  const own = packageVersion();
  const other = await releaseOf(client);
  if (other === undefined || other === own) return failure;
  const what = isProblem
    ? describeProblem(failure.problem)
    : 'The service gave an answer that this command does not understand.';
  return new CommandError(
    `${what} The service is release ${other}, this command ${own}. Restart the service, or run the gannet that it was started from.`,
  );
}

function isForeseen(failure: unknown): boolean {
  return FORESEEN.some((kind) => failure instanceof kind) || isSystemError(failure);
}

async function releaseOf(client: ServiceClient): Promise<string | undefined> {
  try {
    const { info } = (await client.call('openapi.read')) as { readonly info: { readonly version: unknown } };
    return String(info.version);
  } catch {
    // It is gone, or is no service of any release.
    return undefined;
  }
}
