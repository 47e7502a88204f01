/**
 * Preloaded into the service (`node --import`) to control time: each SIGUSR2 sets its clock ahead by a day, so that
 * tests need not wait. Between two jumps, time passes normally. `JUMPING_CLOCK_AHEAD_MS` is the initial offset.
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
