/**
 * How many attempts may be under way: at one receiver, and at all together, each shared by owners (`shared-room.ts`). Whoever finds no slot is called
 * when there may be one: of the owner that has fewest, in turn, so that none is forgotten; and no more of them than there are slots: of ten
 * thousand who wait, a slot that comes free calls one. One thread only.
 */
import { SharedRoom } from './shared-room.js';

type OnFree = () => void;

/** Whose attempt, and at whom. */
export interface SlotPlace {
  readonly owner: string;
  readonly receiver: string;
}

export class WorkSlots {
  private readonly all: SharedRoom;
  private readonly receivers = new Map<string, SharedRoom>();
  /** Who waits, by owner and receiver, both in the order of their turns; none is empty. */
  private readonly waiting = new Map<string, Map<string, Set<OnFree>>>();

  constructor(
    private readonly perReceiverMax: number,
    totalMax: number,
  ) {
    this.all = new SharedRoom(totalMax);
  }

  /** Who is there, or comes: with two owners and more something is left to those who have nothing. */
  expect({ owner, receiver }: SlotPlace): void {
    this.all.expect(owner);
    this.roomAt(receiver).expect(owner);
  }

  forget({ owner, receiver }: SlotPlace): void {
    this.all.forget(owner);
    this.receivers.get(receiver)?.forget(owner);
    this.tidy(receiver);
    // Who is alone now may have all.
    this.callWaiting();
  }

  /** True with a slot, which `release` gives back; false where there is none, and `onFree`, where it is given, is called once there may be. */
  take(place: SlotPlace, onFree: OnFree | undefined): boolean {
    const { owner, receiver } = place;
    if (this.hasRoom(place)) {
      this.all.take(owner);
      this.roomAt(receiver).take(owner);
      return true;
    }
    if (onFree !== undefined) this.wait(place, onFree);
    return false;
  }

  release({ owner, receiver }: SlotPlace): void {
    this.all.release(owner);
    this.receivers.get(receiver)?.release(owner);
    this.tidy(receiver);
    this.callWaiting();
  }

  private callWaiting(): void {
    // Who is called may have nothing to do any more.
    for (let next = this.next(); next !== undefined; next = this.next()) this.leaveWaiting(next)?.();
  }

  private hasRoom({ owner, receiver }: SlotPlace): boolean {
    const room = this.receivers.get(receiver);
    if (!this.all.hasRoomFor(owner)) return false;
    return room === undefined ? this.perReceiverMax > 0 : room.hasRoomFor(owner);
  }

  private wait({ owner, receiver }: SlotPlace, onFree: OnFree): void {
    let its = this.waiting.get(owner);
    if (its === undefined) this.waiting.set(owner, (its = new Map<string, Set<OnFree>>()));
    const there = its.get(receiver);
    if (there === undefined) its.set(receiver, new Set([onFree]));
    else there.add(onFree);
  }

  /**
   * The owner that has fewest under way, the one that waited longest among these, and a receiver with room for it. No more owners and receivers
   * are stepped over than slots are taken: who has none, and whom nobody calls, has room.
   */
  private next(): SlotPlace | undefined {
    if (this.all.isFull) return undefined;
    let best: SlotPlace | undefined;
    let fewest = Infinity;
    for (const [owner, its] of this.waiting) {
      const taken = this.all.takenBy(owner);
      if (taken >= fewest) continue;
      const place = this.freePlace(owner, its.keys());
      if (place === undefined) continue;
      best = place;
      fewest = taken;
      if (taken === 0) break;
    }
    return best;
  }

  private freePlace(owner: string, receivers: Iterable<string>): SlotPlace | undefined {
    if (!this.all.hasRoomFor(owner)) return undefined;
    for (const receiver of receivers) if (this.hasRoom({ owner, receiver })) return { owner, receiver };
    return undefined;
  }

  /** The first of the place, who does not wait any more; others of it come behind those of other receivers, and its owner behind other owners. */
  private leaveWaiting({ owner, receiver }: SlotPlace): OnFree | undefined {
    const its = this.waiting.get(owner);
    const there = its?.get(receiver);
    if (its === undefined || there === undefined) return undefined;
    const [first] = there;
    if (first !== undefined) there.delete(first);
    its.delete(receiver);
    if (there.size > 0) its.set(receiver, there);
    this.waiting.delete(owner);
    if (its.size > 0) this.waiting.set(owner, its);
    return first;
  }

  private roomAt(receiver: string): SharedRoom {
    let room = this.receivers.get(receiver);
    if (room === undefined) this.receivers.set(receiver, (room = new SharedRoom(this.perReceiverMax)));
    return room;
  }

  private tidy(receiver: string): void {
    if (this.receivers.get(receiver)?.isUnused === true) this.receivers.delete(receiver);
  }
}
