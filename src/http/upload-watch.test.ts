import { afterEach, describe, expect, it } from 'vitest';
import { UploadWatch, type WatchedBody } from './upload-watch.js';

class FakeBody implements WatchedBody {
  receivedBytes = 0;
  isPaused = false;
  needsTime = false;
  failure: Error | undefined;
  timesGiven = 0;

  fail(error: Error): void {
    this.failure = error;
  }

  giveTime(): void {
    this.timesGiven += 1;
  }
}

let nowMs = 0;
const watch = new UploadWatch({ idleMsMax: 10_000, nowMs: () => nowMs });
const lookAfter = (ms: number) => {
  nowMs += ms;
  watch.look();
};

function watched(): FakeBody {
  const body = new FakeBody();
  watch.add(body);
  watch.look();
  return body;
}

describe('UploadWatch', () => {
  afterEach(() => watch.close());

  it('gives a body more time as long as anything of it arrives', () => {
    const body = watched();
    for (let count = 1; count <= 100; count += 1) {
      body.receivedBytes += 1;
      lookAfter(9999);
      expect(body.timesGiven).toBe(count + 1);
    }
    expect(body.failure).toBeUndefined();
  });

  it('fails a body of which nothing arrives, once and with the reason', () => {
    const body = watched();
    lookAfter(9999);
    expect(body.failure).toBeUndefined();
    lookAfter(1);
    expect(body.failure).toMatchObject({ code: 'body-too-slow', status: 408 });
    body.failure = undefined;
    lookAfter(20_000);
    expect(body.failure).toBeUndefined();
  });

  it("counts no time in which the service itself does not read, and keeps the transport's timeout off", () => {
    const body = watched();
    body.isPaused = true;
    lookAfter(60_000);
    expect(body).toMatchObject({ failure: undefined, timesGiven: 2 });
    body.isPaused = false;
    lookAfter(9999);
    expect(body.failure).toBeUndefined();
    lookAfter(1);
    expect(body.failure).toBeDefined();
  });

  it('gives time to a complete body that needs it until its request is answered', () => {
    const body = watched();
    body.needsTime = true;
    for (let count = 1; count <= 10; count += 1) {
      lookAfter(9999);
      expect(body).toMatchObject({ failure: undefined, timesGiven: count + 1 });
    }
  });

  it('ignores bodies that were removed', () => {
    const body = watched();
    watch.remove(body);
    lookAfter(60_000);
    expect(body).toMatchObject({ failure: undefined, timesGiven: 1 });
  });
});
