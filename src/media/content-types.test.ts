import { expect, it } from 'vitest';
import { safetyHeaders } from './content-types.js';

it.each([
  ['a/report.pdf', 'filename="report.pdf"'],
  ['ü "x".html', `filename="_ _x_.html"; filename*=UTF-8''%C3%BC%20%22x%22.html`],
  // Shown from right to left it would end in jpg.
  ['\u202Egpj.exe', 'filename="_gpj.exe"'],
  ['x\u2067y\u200Fz.txt', 'filename="x_y_z.txt"'],
])('the file %j is saved under a name that says what it is', (path, name) => {
  expect(safetyHeaders(path, 'application/pdf')['Content-Disposition']).toBe(`attachment; ${name}`);
});
