import { expect, it } from 'vitest';
import { safetyHeaders } from './content-types.js';

it.each([
  ['a/report.pdf', 'filename="report.pdf"'],
  ['ü "x".html', `filename="_ _x_.html"; filename*=UTF-8''%C3%BC%20%22x%22.html`],
  // Displayed from right to left, this name would end with jpg.
  ['\u202Egpj.exe', 'filename="_gpj.exe"'],
  ['x\u2067y\u200Fz.txt', 'filename="x_y_z.txt"'],
])('A file with the path %j is offered for download under a safe name', (path, name) => {
  expect(safetyHeaders(path, 'application/pdf')['Content-Disposition']).toBe(`attachment; ${name}`);
});
