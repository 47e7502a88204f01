/**
 * The settings of `default.toml` as a schema: types and ranges here, meaning there. The two are compared by a test.
 * A setting `section.name` has the environment variable `GANNET_<SECTION>_<NAME>`, but for `ENVIRONMENT_EXCEPTIONS`.
 */
import { Type, type Static, type TSchema } from 'typebox';

const section = <Members extends Record<string, TSchema>>(members: Members) =>
  Type.Object(members, { additionalProperties: false });

const integer = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });

/** Zero stands for "chosen by the service"; `loadConfig` puts the chosen number in its place. */
const automaticOr = (minimum: number, maximum: number) => Type.Integer({ anyOf: [{ const: 0 }, { minimum, maximum }] });

export const configSchema = section({
  server: section({
    host: Type.String({ minLength: 1, maxLength: 255 }),
    port: integer(0, 65_535),
    shutdown_seconds: integer(0, 600),
    body_idle_seconds_max: integer(1, 86_400),
    trusted_proxies: Type.Array(
      Type.String({
        pattern: '^[0-9A-Fa-f.:]{2,45}(/[0-9]{1,3})?$',
        allowed: 'an IP address such as "10.0.0.1", or a range of them such as "10.0.0.0/8"',
      }),
      { maxItems: 100 },
    ),
    web_server: Type.Union([Type.Literal('auto'), Type.Literal('uws'), Type.Literal('node')]),
    cors_origins: Type.Array(
      Type.String({
        pattern: '^(\\*|https?://[^/\\s,]+)$',
        allowed: 'an origin such as "https://shop.example", with no slash and no path behind it, or "*"',
      }),
      { maxItems: 100 },
    ),
  }),
  console: section({
    public_url: Type.String({
      pattern: '^(https?://[^/\\s?#]+)?$',
      maxLength: 512,
      allowed: 'the beginning of a URL such as "https://search.example", with no slash and no path behind it, or empty',
    }),
  }),
  data: section({ dir: Type.String({ minLength: 1, maxLength: 4096, path: 'file' }) }),
  account: section({
    name: Type.String({
      pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
      allowed: "1 to 64 lower-case letters, digits, '-' and '_', the first a letter or digit, such as \"default\"",
    }),
    region: Type.String({
      pattern: '^[a-z0-9][a-z0-9-]{0,15}$',
      allowed: '1 to 16 lower-case letters, digits and hyphens, the first a letter or digit, such as "eu"',
    }),
  }),
  memory: section({
    mib: automaticOr(224, 1_048_576),
    mapped_mib: integer(16, 1_048_576),
    mapped_busy_mib: automaticOr(16, 1_048_576),
  }),
  limits: section({
    json_body_bytes_max: integer(1024, 1_073_741_824),
    bulk_body_bytes_max: integer(1024, 1_099_511_627_776),
    record_bytes_max: integer(1024, 67_108_864),
    answer_bytes_max: integer(1_048_576, 1_073_741_824),
    requests_in_flight_max: integer(1, 1_000_000),
  }),
  search: section({
    threads: automaticOr(1, 256),
    queue_max: integer(1, 1_000_000),
    deadline_ms: integer(10, 600_000),
    batch_max: integer(1, 1024),
    cache_mib: integer(0, 1_048_576),
    rate_per_minute: integer(1, 1_000_000_000),
  }),
  ingest: section({
    threads: automaticOr(1, 256),
    queue_max: integer(1, 100_000),
    writes_waiting_max: integer(1, 1_000_000),
    batch_records_max: integer(1, 1_000_000),
    batch_bytes_max: integer(65_536, 268_435_456),
    bulk_errors_max: integer(0, 100_000),
    merge_fan_in: integer(2, 64),
    merge_records_max: integer(1000, 4_000_000_000),
  }),
  analytics: section({
    enabled: Type.Boolean(),
    flush_ms: integer(10, 1000),
    buffer_mib: integer(1, 1024),
    roll_up_seconds: integer(1, 3600),
    report_ms_max: integer(100, 60_000),
  }),
  lists: section({ open_max: automaticOr(4, 1_000_000) }),
  versions: section({ kept: integer(0, 100) }),
  outbound: section({
    allowed_hosts: Type.Array(
      Type.String({
        pattern: '^[a-z0-9._:-]{1,253}$',
        allowed: 'the name or the address of a host in lower case, such as "intranet.example", without scheme and path',
      }),
      { maxItems: 100 },
    ),
    loopback_allowed: Type.Boolean(),
  }),
  webhooks: section({
    subscriptions_max: integer(1, 10_000),
    answer_seconds: integer(1, 300),
    retry_seconds: Type.Array(integer(1, 86_400), { maxItems: 20 }),
    queue_retry_minutes: Type.Array(integer(1, 43_200), { maxItems: 50 }),
    jitter_percent: integer(0, 100),
    connections_per_receiver: integer(1, 1000),
    connections_max: integer(1, 100_000),
    secret_overlap_hours: integer(0, 8760),
    log_days: integer(1, 3650),
    log_entries_max: integer(100, 100_000_000),
  }),
  secrets: section({
    keys: Type.Array(
      Type.String({
        pattern: '^[A-Za-z0-9+/]{43}=$',
        allowed: '32 bytes in Base64, as `openssl rand -base64 32` prints them',
      }),
      { maxItems: 10 },
    ),
  }),
  keys: section({ read_only_per_hour: integer(1, 1_000_000) }),
  log: section({
    level: Type.Union([
      Type.Literal('fatal'),
      Type.Literal('error'),
      Type.Literal('warn'),
      Type.Literal('info'),
      Type.Literal('debug'),
      Type.Literal('trace'),
      Type.Literal('silent'),
    ]),
  }),
});

/** Settings whose environment variable the contract names otherwise. */
export const ENVIRONMENT_EXCEPTIONS: Readonly<Record<string, string>> = {
  'server.host': 'GANNET_HOST',
  'server.port': 'GANNET_PORT',
  'account.region': 'GANNET_REGION',
};

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** The settings of a running service: complete, in range, frozen; automatic numbers are resolved. */
export type Config = DeepReadonly<Static<typeof configSchema>>;
