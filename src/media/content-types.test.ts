import { expect, it } from 'vitest';
import { contentTypeOf, safetyHeaders } from './content-types.js';

it.each([
  ['', 'a.pdf', 'application/pdf'],
  ['image/png', 'a.pdf', 'image/png'],
  // What curl --data-binary and Python's urllib send unless told otherwise.
  ['application/x-www-form-urlencoded', 'a.pdf', 'application/pdf'],
  ['Application/X-WWW-Form-Urlencoded ; charset=UTF-8', 'a', 'application/octet-stream'],
  ['text/html; charset=latin1', 'a.txt', 'text/html; charset=latin1'],
])('A file that is sent as %j to %s has the type %s', (given, path, type) => {
  expect(contentTypeOf(given, path)).toBe(type);
});

it.each(['multipart/form-data; boundary=x', 'Multipart/Form-Data'])(
  'A form (%s) is refused, since it is not the file itself',
  (given) => {
    const refusal = { code: 'unsupported-media-type', message: expect.stringContaining('curl -T FILE') as string };
    expect(() => contentTypeOf(given, 'a.txt')).toThrow(expect.objectContaining(refusal) as Error);
  },
);

it.each([
  ['a/report.pdf', 'filename="report.pdf"'],
  ['ü "x".html', `filename="_ _x_.html"; filename*=UTF-8''%C3%BC%20%22x%22.html`],
  // Displayed from right to left, this name would end with jpg.
  ['\u202Egpj.exe', 'filename="_gpj.exe"'],
  ['x\u2067y\u200Fz.txt', 'filename="x_y_z.txt"'],
])('A file with the path %j is offered for download under a safe name', (path, name) => {
  expect(safetyHeaders(path, 'application/pdf')['Content-Disposition']).toBe(`attachment; ${name}`);
});
