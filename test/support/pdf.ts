/** Writes PDF files: objects one after the other, with a cross-reference table. */
export interface PdfPage {
  readonly lines: readonly string[];
  /** Degrees clockwise, a multiple of 90. */
  readonly rotated?: number;
  /** Values of single-line form fields. */
  readonly values?: readonly string[];
}

const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>';

/** Returns a document with these pages and `extra` in its trailer. */
export function pdfOf(pages: readonly PdfPage[], extra = ''): Buffer {
  const objects: string[] = ['', '', FONT];
  const add = (object: string) => `${objects.push(object)} 0 R`;
  const kids = pages.map(({ lines, rotated = 0, values = [] }) => {
    const content = add(stream(contentOf(lines)));
    const fields = values.map((value, index) =>
      add(
        `<< /Type /Annot /Subtype /Widget /FT /Tx /T (field${index}) /V (${escaped(value)}) /Rect [72 ${72 + 20 * index} 300 ${90 + 20 * index}] >>`,
      ),
    );
    return add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Rotate ${rotated} /Contents ${content} ` +
        `/Resources << /Font << /F1 3 0 R >> >> /Annots [${fields.join(' ')}] >>`,
    );
  });
  objects[0] = '<< /Type /Catalog /Pages 2 0 R >>';
  objects[1] = `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${kids.length} >>`;
  return fileOf(objects, extra);
}

/** Returns a document with these objects, the first of which is its catalogue. */
export function fileOf(objects: readonly string[], extra = ''): Buffer {
  let text = '%PDF-1.4\n';
  const places = objects.map((object, index) => {
    const place = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R ${extra} >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(`${text}xref\n0 ${size}\n0000000000 65535 f \n${table}${trailer}`, 'latin1');
}

export const stream = (content: string): string => `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;

function contentOf(lines: readonly string[]): string {
  const shown = lines.map((line) => `(${escaped(line)}) Tj 0 -20 Td`);
  return `BT /F1 12 Tf 72 770 Td ${shown.join('\n')} ET`;
}

const escaped = (text: string): string => text.replace(/[\\()]/g, '\\$&');
