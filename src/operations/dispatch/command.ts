/** A command of `gannet` for one operation, from which its parameters and help are derived. */
export interface CommandSpec {
  /** As typed after `gannet`: `model add`. */
  readonly name: string;
  /** Heading, in the list of all commands, of the commands with the same first word; set on the first of them. */
  readonly group?: string;
  /** Name of the operation. */
  readonly operation: string;
  /** Default: the operation's summary. */
  readonly description?: string;
  /**
   * Parameters and body members that are typed in this order without their names. Others are options:
   * `--interval-minutes`.
   */
  readonly arguments?: readonly string[];
  /**
   * Members that are paths of this machine. Relative ones are resolved against the caller's working directory, except
   * places in media stores (`media:…`).
   */
  readonly paths?: readonly string[];
  /**
   * Loads a function that says how the typed arguments and options may be ambiguous; the command then does nothing,
   * with exit status 2.
   */
  readonly unclear?: () => Promise<(values: readonly string[], options: TypedOptions) => string | undefined>;
  /**
   * Members read from standard input, never typed on the command line, where others could read them. An optional one is
   * only read if `--<name>-stdin` is given.
   */
  readonly secrets?: readonly string[];
  /** Arguments of a valid call, shown in the help and used by tests. Required if the command needs arguments. */
  readonly example?: readonly string[];
  /**
   * True if the command may be the very first call, so that a data directory is created for it. Others report that
   * there is none, and create nothing.
   */
  readonly begins?: true;
  /**
   * Loads a function that answers without a data directory, given the operation's query; undefined if one is needed.
   */
  readonly alone?: () => Promise<(query: Readonly<Record<string, unknown>>) => Promise<unknown> | undefined>;
  /**
   * What waits for the service while it does not run; printed to standard error after "The service is not running: ".
   */
  readonly whileStopped?: string;
  /** Loads the function that formats the answer for people. Default: JSON, as `--json` always prints. */
  readonly print?: () => Promise<AnswerPrinter>;
  /** Loads a function that recognizes answers after which the exit status is 1. Default: none. */
  readonly hasFailed?: () => Promise<(answer: unknown) => boolean>;
  /**
   * Loads how to follow the job that the call begins: its progress is shown until it is over, and then its outcome.
   * `--no-wait` disables that.
   */
  readonly follow?: () => Promise<JobFollower>;
}

/** Options by their names in camel case. */
export type TypedOptions = Readonly<Record<string, string | boolean | undefined>>;

export interface JobFollower {
  /** Kind of the job in `progress.read`. */
  readonly kind: string;
  readonly nameOf: (begun: unknown) => string;
  /** Operation that reads the state of the job, with the same parameters. */
  readonly operation: string;
  /**
   * True if the job is over, by the call's answer and the state read since. Also true for unexpected answers, so that
   * waiting always ends.
   */
  readonly isOver: (begun: unknown, now: unknown) => boolean;
  readonly hasFailed: (now: unknown) => boolean;
}

export type AnswerPrinter = (answer: unknown, text: CommandText) => string;

/** Layout of texts for people. */
export interface CommandText {
  /** Formats columns; the first row is the heading. */
  readonly table: (rows: readonly (readonly string[])[]) => string;
  /** Such as `117,791`. */
  readonly count: (value: number) => string;
  /** Such as `1 page`, `1,024 pages`. */
  readonly counted: (value: number, noun: string) => string;
  /** Such as `1.4 GiB`. */
  readonly bytes: (value: number) => string;
}
