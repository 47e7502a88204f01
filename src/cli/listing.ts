/** Reads all pages of a listing. */
import type { ServiceClient } from './service-client.js';

/** Returns the answer as if it were a single page: arrays are concatenated, and `next` is removed. */
export async function readListing(
  client: ServiceClient,
  operation: string,
  params: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, unknown>>> {
  const whole: Record<string, unknown> = {};
  let after: string | undefined;
  do {
    const query = after === undefined ? {} : { after };
    const { next, ...page } = (await client.call(operation, { params, query })) as { readonly next?: string };
    for (const [name, value] of Object.entries(page)) {
      const before = whole[name];
      whole[name] =
        Array.isArray(before) && Array.isArray(value) ? [...(before as unknown[]), ...(value as unknown[])] : value;
    }
    after = next;
  } while (after !== undefined);
  return whole;
}
