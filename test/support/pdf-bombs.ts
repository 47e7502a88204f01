/** Small documents that exhaust memory or time of a naive reader. */
import { deflateSync } from 'node:zlib';
import { fileOf } from './pdf.js';

/** A form that draws itself twice, recursively. */
function drawsItself(): Buffer {
  const drawn = '/Resources << /XObject << /X 4 0 R /Y 5 0 R >> >>';
  const form = (content: string) =>
    `<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] ${drawn} /Length ${content.length} >>\nstream\n${content}\nendstream`;
  return fileOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 6 0 R ${drawn} >>`,
    form('/Y Do '.repeat(1000)),
    form('/X Do '.repeat(1000)),
    '<< /Length 6 >>\nstream\n/X Do \nendstream',
  ]);
}

/** 256 MiB of commands in 256 KiB. */
function unpacked(): Buffer {
  const packed = deflateSync(Buffer.alloc(2 ** 28, 'q ')).toString('latin1');
  return fileOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>',
    `<< /Filter /FlateDecode /Length ${packed.length} >>\nstream\n${packed}\nendstream`,
  ]);
}

/** A tree of pages that contains itself. */
function endlessPages(): Buffer {
  return fileOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [2 0 R 2 0 R] /Parent 2 0 R /Count 1000000000 >>',
  ]);
}

/** Objects nested deeper than any document's. */
function nested(): Buffer {
  return fileOf(['<< /Type /Catalog /Pages 2 0 R >>', `<< /Type /Pages /Kids ${'['.repeat(500_000)}`]);
}

export const BOMBS = { unpacked, drawsItself, endlessPages, nested };
