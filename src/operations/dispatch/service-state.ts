/** The state of the service, for its operator. */

/** Something of an account that does not work, and that somebody has to look after. */
export interface Trouble {
  /** `feed`, `webhook`, … */
  readonly kind: string;
  readonly account: string;
  readonly name: string;
  /** A sentence. */
  readonly detail: string;
  /** ISO 8601; null if it is not known. */
  readonly since_utc: string | null;
}

/** Outcome of the backups made by this service, or by a command on its data directory. */
export interface BackupState {
  readonly last: { readonly finished_utc: string; readonly path: string; readonly bytes: number } | null;
  /** A failure since the last backup. */
  readonly failure: { readonly at_utc: string; readonly detail: string } | null;
}

export interface ServiceState {
  readonly release: string;
  readonly node: string;
  readonly process_id: number;
  readonly started_utc: string;
  readonly data_dir: string;
  /** Null: the disk does not respond. */
  readonly disk: {
    readonly bytes: number;
    readonly free_bytes: number;
    readonly used: readonly { readonly name: string; readonly bytes: number }[];
  } | null;
  readonly memory: { readonly own_bytes: number | null; readonly budget_bytes: number };
  readonly lists: { readonly all: number; readonly open: number; readonly rebuilding: number };
  /** `max`: number at which further ones are refused; null if none ever is. */
  readonly waiting: readonly { readonly name: string; readonly count: number; readonly max: number | null }[];
  readonly backup: BackupState;
  readonly troubles: readonly Trouble[];
}
