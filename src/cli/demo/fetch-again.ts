import { CommandError, EXIT } from '../exit-codes.js';

/**
 * Sends a GET, repeating it once over a new connection. The service closes idle connections, which this process does
 * not notice while it is stopped or busy. Rejects with a CommandError.
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
