/**
 * Answers that another process may compare its own with: one on a processor of other instructions, or of another release.
 * The file that `GANNET_RANKED_ANSWERS` names is written by the first process and compared by the others.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { same } from '../model/difference.js';

export class KeptAnswers {
  private readonly earlier: Readonly<Record<string, string>> | undefined;
  private readonly prints: Record<string, string> = {};

  constructor(private readonly file: string | undefined) {
    if (file !== undefined && existsSync(file))
      this.earlier = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  }

  add(name: string, answer: unknown): void {
    if (this.file === undefined) return;
    const print = createHash('sha256').update(JSON.stringify(answer)).digest('hex').slice(0, 16);
    const before = this.earlier?.[name];
    if (before !== undefined) same(`the answer of another process to ${name}`, print, before);
    this.prints[name] = print;
  }

  save(): void {
    if (this.file !== undefined && this.earlier === undefined) writeFileSync(this.file, JSON.stringify(this.prints));
  }
}
