/** All notations of addresses that the service must not contact on behalf of others. */
/** One address of each non-public range, and addresses where cloud providers serve credentials. */
export const FORBIDDEN_IPV4 = [
  ...[
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '10.255.255.254',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
  ],
  ...['168.63.129.16', '169.254.169.254', '169.254.170.2', '172.16.0.1', '172.31.255.254', '192.0.0.192', '192.0.2.1'],
  ...['192.168.0.1', '192.168.255.254', '198.18.0.1', '198.51.100.7', '203.0.113.9', '224.0.0.251', '239.255.255.250'],
  ...['240.0.0.1', '255.255.255.255'],
] as const;
export const FORBIDDEN_IPV6 = [
  ...['::', '::1', '0:0:0:0:0:0:0:1', 'fe80::1', 'febf::1', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'fdff:ffff::1'],
  ...['ff02::1', 'ff0e::1', '100::1', '2001:db8::1', '2001::1', '2001:2::1', '2001:10::1', '2001:20::1', '3fff::1'],
  ...['5f00::1', '4000::1', '8000::1', '::ffff:0:7f00:1', '64:ff9b:1::7f00:1', 'fd20:ce::254'],
] as const;
const LOCAL_NAMES = [
  ...['localhost', 'localhost.', 'LOCALHOST', 'a.localhost', 'localhost.localdomain', 'router', 'db', 'printer.local'],
  ...['metadata.google.internal', 'instance-data.ec2.internal', 'wiki.intranet', 'nas.lan', 'nas.home', 'git.corp'],
  ...['box.home.arpa', 'host.docker.internal', 'kubernetes.default.svc.cluster.local', 'vault.private'],
] as const;

export function bytesOf(ipv4: string): [number, number, number, number] {
  return ipv4.split('.').map(Number) as [number, number, number, number];
}

/** Returns every notation of this IPv4 address in a URL, itself or inside an IPv6 address. */
export function notationsOf(ipv4: string): string[] {
  const [a, b, c, d] = bytesOf(ipv4);
  const hex = (...bytes: number[]) => bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const whole = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
  const inverted = `${hex(a ^ 255, b ^ 255)}:${hex(c ^ 255, d ^ 255)}`;
  const tail = `${hex(a, b)}:${hex(c, d)}`;
  return [
    ipv4,
    `${ipv4}.`,
    String(whole),
    `0x${hex(a, b, c, d)}`,
    `0${whole.toString(8)}`,
    `${a}.${(b << 16) | (c << 8) | d}`,
    `${a}.${b}.${(c << 8) | d}`,
    [a, b, c, d].map((byte) => `0${byte.toString(8)}`).join('.'),
    [a, b, c, d].map((byte) => `0x${byte.toString(16)}`).join('.'),
    ipv4.replace(/\d/, (digit) => `%3${digit}`),
    ipv4.replace(/\d/gu, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    ipv4.replaceAll('.', '\u3002'),
    `[::ffff:${ipv4}]`,
    `[0:0:0:0:0:FFFF:${tail}]`,
    `[::${tail}]`,
    `[64:ff9b::${tail}]`,
    `[64:ff9b:1::${tail}]`,
    `[2002:${tail}::1]`,
    `[2001:0:4136:e378:8000:63bf:${inverted}]`,
    `[::ffff:0:${tail}]`,
    `[2600:1f18::5efe:${tail}]`,
    `[2600:1f18::200:5efe:${tail}]`,
  ];
}

/** Returns some hundred forbidden URLs. */
export function forbiddenUrls(): string[] {
  const hosts = [
    ...FORBIDDEN_IPV4.flatMap(notationsOf),
    ...FORBIDDEN_IPV6.map((address) => `[${address}]`),
    ...LOCAL_NAMES,
  ];
  const urls = hosts.map((host) => `https://${host}/hook`);
  const decorated = ['https://127.0.0.1:8443/', 'HTTPS://10.0.0.1/', 'https://10.0.0.1/?a=https://example.com/'];
  return [...new Set([...urls, ...decorated])];
}
