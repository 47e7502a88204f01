import { describe, expect, it } from 'vitest';
import { webServerFault } from './web-server-fault.js';

const refusal = (reason: string) =>
  new Error(`This version of uWS.js supports only Node.js versions 16 and 20 on Tier 1 platforms.\n\n${reason}`);

describe('why the web server cannot be loaded', () => {
  it('is the C library, where that is too old: not the version of Node.js', () => {
    const fault = webServerFault(
      refusal("Error: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by /x/uws.node)"),
    );
    expect(fault).toMatch(/needs glibc 2\.38, and this machine has .*: take Node\.js 20, or a newer system/);
  });

  it('is the version of Node.js, where there is no binary for it', () => {
    const fault = webServerFault(refusal("Error: Cannot find module './uws_linux_x64_131.node'\nRequire stack:\n- /x"));
    expect(fault).toMatch(/^It has no binary for Node\.js .*: take Node\.js 20, 22 or 24 .*npm ci/);
    expect(fault).not.toContain('\n');
  });

  it('is the binary, where that is damaged', () => {
    expect(webServerFault(refusal('Error: /x/uws.node: file too short'))).toMatch(/\(\/x\/uws\.node: file too short\)/);
  });

  it('is not asked of other failures', () => {
    expect(webServerFault(new Error('Cannot find module x'))).toBeUndefined();
    expect(webServerFault(undefined)).toBeUndefined();
  });
});
