/**
 * Collects the changes that one commit makes to the vectors of a list, in the current version and in the copied part of
 * the one being built. A list that never had a model has none of this. Belongs to one task of one thread.
 */
import type { Kernel } from '../../../native-bindings/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { invalidVector, type GivenVectors, type RecordStore } from '../../records/index.js';
import type { ListState, MeaningState, VectorSpace } from '../../store/index.js';
import type { VersionView } from '../contract/ingest-tasks.js';
import { SpaceCommit } from './space-commit.js';

export interface VectorCommitOptions {
  readonly kernel: Kernel;
  readonly store: RecordStore;
  readonly nowMs: number;
  readonly meaning: ListState['meaning'];
}

export class VectorCommit {
  private meaning: MeaningState | undefined;

  constructor(private readonly options: VectorCommitOptions) {
    this.meaning = options.meaning;
  }

  /** Returns the changes of one version, one object per space; empty if the list has no vectors. */
  ofVersion(view: VersionView, definition: FieldDefinition, firstNewRecord: number): readonly SpaceCommit[] {
    const { kernel, store, nowMs } = this.options;
    const { version, vectors: index } = view;
    const common = { kernel, store, nowMs, version, index, definition, firstNewRecord };
    return (this.meaning?.spaces ?? []).map(
      ({ number }) => new SpaceCommit({ ...common, space: () => this.space(number) }),
    );
  }

  /**
   * Throws `invalid-record` if the list does not accept such vectors. The first vectors determine the length of all.
   */
  accept(vectors: GivenVectors | undefined): void {
    if (vectors === undefined) return;
    const own = (this.meaning?.spaces ?? []).filter(({ source, state }) => source === 'own' && state !== 'resting');
    if (own.length === 0) {
      const detail =
        "The list does not accept vectors with its records, because its model is not of the provider 'own'.";
      throw invalidVector('vector', detail);
    }
    const length = vectors?.[0]?.length;
    if (length === undefined || own.some(({ dimensions }) => dimensions === length)) return;
    const open = own.find(({ dimensions }) => dimensions === null);
    if (open === undefined) {
      const expected = own.map(({ dimensions }) => dimensions).join(' or ');
      const detail = `A vector of this list must have ${expected} numbers, not ${length}. For another length, use another model of the provider 'own'.`;
      throw invalidVector('vector', detail);
    }
    this.replace({ ...open, dimensions: length });
  }

  /** Part of the list's next state, to be spread into it. */
  get statePart(): Pick<ListState, 'meaning'> {
    return this.meaning === undefined ? {} : { meaning: this.meaning };
  }

  private space(number: number): VectorSpace {
    const space = this.meaning?.spaces.find((each) => each.number === number);
    if (space === undefined) throw new Error(`the list has no vectors of kind ${number}`);
    return space;
  }

  private replace(space: VectorSpace): void {
    if (this.meaning === undefined) return;
    const spaces = this.meaning.spaces.map((each) => (each.number === space.number ? space : each));
    this.meaning = { ...this.meaning, spaces };
  }
}
