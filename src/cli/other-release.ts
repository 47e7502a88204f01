/**
 * Detects a service of another release or build, for instance one not restarted after an upgrade, when it answers
 * unexpectedly.
 */
import { isSystemError, OperatorError, packageBuild, packageVersion, ServiceError } from '../platform/index.js';
import { ConfigError } from '../platform/config.js';
import { CommandError } from './exit-codes.js';
import { describeProblem, ProblemError } from './problem.js';
import type { ServiceClient } from './service-client.js';

/** Errors of such a service for an unknown path, method or member. */
const UNKNOWN: ReadonlySet<string> = new Set(['not-found', 'method-not-allowed', 'invalid-parameter']);
const FORESEEN = [CommandError, ServiceError, OperatorError, ConfigError];

/** The service works, but this command and it do not know the same. */
export class OtherReleaseError extends CommandError {}

/** Returns the failure, or an OtherReleaseError if the service is of another release or build. Never rejects. */
export async function toldOfOtherRelease(client: ServiceClient, failure: unknown): Promise<unknown> {
  const isProblem = failure instanceof ProblemError;
  const mayBe = isProblem ? UNKNOWN.has(failure.problem.code) : !isForeseen(failure);
  if (client.transport !== 'control socket' || !mayBe) return failure;
  const difference = await differenceTo(client);
  if (difference === undefined) return failure;
  const what = isProblem
    ? describeProblem(failure.problem)
    : 'The service gave an answer that this command does not understand.';
  return new OtherReleaseError(
    `${what} ${difference} Restart the service, or run the gannet that it was started from.`,
  );
}

function isForeseen(failure: unknown): boolean {
  return FORESEEN.some((kind) => failure instanceof kind) || isSystemError(failure);
}

/** Undefined if the service runs from the same build as this command, or is gone, or is none of any release. */
async function differenceTo(client: ServiceClient): Promise<string | undefined> {
  try {
    const { info } = (await client.call('openapi.read')) as {
      readonly info: { readonly version: unknown; readonly 'x-build'?: unknown };
    };
    const [other, own] = [String(info.version), packageVersion()];
    if (other !== own) return `The service is release ${other}, this command ${own}.`;
    // Services of earlier builds do not say which one they are of.
    return info['x-build'] === packageBuild()
      ? undefined
      : `The service was started from another build of release ${own} than this command.`;
  } catch {
    return undefined;
  }
}
