import { CommandError, EXIT } from '../exit-codes.js';

/**
 * A GET over a connection that may be one that was kept. The service closes those that are idle, also while this process is
 * stopped or busy and does not notice; asked once more, the request has a new one. Rejects with a CommandError.
 */
export async function fetchAgain(url: string, headers: Readonly<Record<string, string>>): Promise<Response> {
  try {
    return await fetch(url, { headers });
  } catch {
    try {
      return await fetch(url, { headers });
    } catch (error) {
      const { cause } = error as { readonly cause?: unknown };
      const reason = cause instanceof Error ? cause.message : String(error);
      throw new CommandError(`Cannot reach the service at ${new URL(url).origin}: ${reason}.`, EXIT.unavailable);
    }
  }
}
