/**
 * Loaded before the service (`node --import`) in tests of what happens with time: at each SIGUSR2 its clock jumps ahead by a
 * day, so that a test waits for nothing but the signal. Time between two jumps passes as always. `JUMPING_CLOCK_AHEAD_MS`: by so much it is ahead at first.
 */
const JUMP_MS = 24 * 3_600_000;
const SystemDate = Date;
let aheadMs = Number(process.env['JUMPING_CLOCK_AHEAD_MS'] ?? 0);

class JumpingDate extends SystemDate {
  constructor(...given) {
    if (given.length === 0) super(JumpingDate.now());
    else super(.../** @type {[number]} */ (given));
  }

  /** @override */
  static now() {
    return SystemDate.now() + aheadMs;
  }
}

Object.assign(globalThis, { Date: JumpingDate });
process.on('SIGUSR2', () => {
  aheadMs += JUMP_MS;
});
