/**
 * The kernel's flags, each of which stops one search that is out at a worker. Main thread only: who takes a flag gives it back
 * when nothing watches it any more.
 */
import { kernelConstant, type Kernel } from '../../native-bindings/index.js';

/** Given where all others are taken; nobody raises it, so that its searches end at their deadline at the latest. */
const SHARED_FLAG = 0;

export class StopFlags {
  private readonly free: number[] = [];
  private next = SHARED_FLAG + 1;

  constructor(
    private readonly kernel: Pick<Kernel, 'raiseStop' | 'lowerStop'>,
    private readonly flagsMax = kernelConstant('StopFlagsMax'),
  ) {}

  /** A flag that is not raised. */
  take(): number {
    const flag = this.free.pop();
    if (flag !== undefined) return flag;
    if (this.next >= this.flagsMax) return SHARED_FLAG;
    return this.next++;
  }

  raise(flag: number): void {
    if (flag !== SHARED_FLAG) this.kernel.raiseStop(flag);
  }

  /** `raised`: whether it was. */
  giveBack(flag: number, raised: boolean): void {
    if (flag === SHARED_FLAG) return;
    if (raised) this.kernel.lowerStop(flag);
    this.free.push(flag);
  }
}
