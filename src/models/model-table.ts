/** Prints the models of an account as a table. */
import type { AnswerPrinter } from '../operations/index.js';

interface ShownModel {
  readonly name: string;
  readonly kind: string;
  readonly provider: string;
  readonly dimensions: number | null;
  readonly state: string;
  readonly detail?: string;
  readonly used_by: readonly string[];
}

export const printModels: AnswerPrinter = (answer, { table }) => {
  const { models } = answer as { readonly models: readonly ShownModel[] };
  const rows = models.map(({ name, kind, provider, dimensions, state, detail, used_by: users }) => [
    name,
    kind,
    provider,
    dimensions === null ? '' : String(dimensions),
    detail === undefined ? state : `${state}: ${detail}`,
    users.join(', '),
  ]);
  return table([['NAME', 'KIND', 'PROVIDER', 'DIMENSIONS', 'STATE', 'USED BY'], ...rows]);
};
