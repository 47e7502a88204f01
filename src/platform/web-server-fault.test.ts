import { describe, expect, it } from 'vitest';
import { releasesFor, webServerFault } from './web-server-fault.js';

const refusal = (reason: string) =>
  new Error(`This version of uWS.js supports only Node.js versions 16 and 20 on Tier 1 platforms.\n\n${reason}`);

function faultOf(error: Error) {
  const fault = webServerFault(error);
  if (fault === undefined) throw new Error('This is no refusal');
  return fault;
}

describe('webServerFault', () => {
  it('blames the C library, not the version of Node.js, if the library is too old', () => {
    const { advice, isDamage } = faultOf(
      refusal("Error: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by /x/uws.node)"),
    );
    expect(advice).toMatch(/needs glibc 2\.38, and this machine has .*: take Node\.js 20, or a newer system/);
    expect(isDamage).toBe(false);
  });

  it('blames the version of Node.js if there is no binary for it', () => {
    const { advice, isDamage } = faultOf(
      refusal("Error: Cannot find module './uws_linux_x64_131.node'\nRequire stack:\n- /x"),
    );
    expect(advice).toMatch(/^It has no binary for Node\.js .*: take Node\.js 20( to 25)? on .*npm ci/);
    expect(advice).not.toContain('\n');
    expect(isDamage).toBe(false);
  });

  it('blames the binary if it is damaged', () => {
    const { advice, isDamage } = faultOf(refusal('Error: /x/uws.node: file too short'));
    expect(advice).toMatch(/\(\/x\/uws\.node: file too short\)/);
    expect(isDamage).toBe(true);
  });

  it('advises no release whose binary would need a newer C library', () => {
    expect(['2.36', '2.37', '2.38', '2.41', '3.0', undefined].map(releasesFor)).toEqual([
      '20',
      '20',
      ...Array<string>(4).fill('20 to 25'),
    ]);
  });

  it('ignores other failures', () => {
    expect(webServerFault(new Error('Cannot find module x'))).toBeUndefined();
    expect(webServerFault(undefined)).toBeUndefined();
  });
});
