/**
 * Limits the attempts in progress, per receiver and in total, shared among owners (`shared-room.ts`). Whoever finds no
 * slot is called when there may be one: first the owner with the fewest attempts, in turn, so that none starves. No
 * more waiters are called than there are slots: of ten thousand, a freed slot calls one. One thread only.
 */
import { SharedRoom } from './shared-room.js';

type OnFree = () => void;

/** Owner and receiver of an attempt. */
export interface SlotPlace {
  readonly owner: string;
  readonly receiver: string;
}

export class WorkSlots {
  private readonly all: SharedRoom;
  private readonly receivers = new Map<string, SharedRoom>();
  /** Waiters by owner and receiver, both in order of their turns; none is empty. */
  private readonly waiting = new Map<string, Map<string, Set<OnFree>>>();

  constructor(
    private readonly perReceiverMax: number,
    totalMax: number,
  ) {
    this.all = new SharedRoom(totalMax);
  }

  /** Announces an owner at a receiver: with two owners or more, some slots are left for those that have none. */
  expect({ owner, receiver }: SlotPlace): void {
    this.all.expect(owner);
    this.roomAt(receiver).expect(owner);
  }

  forget({ owner, receiver }: SlotPlace): void {
    this.all.forget(owner);
    this.receivers.get(receiver)?.forget(owner);
    this.tidy(receiver);
    // An owner that is alone now may have all slots.
    this.callWaiting();
  }

  /**
   * Returns true with a slot, to be given back by `release`. Returns false if there is none, and calls `onFree`, if
   * given, once there may be one.
   */
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
    // A called waiter may have nothing to do any more, so the next one is called as well.
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
   * Returns the owner with the fewest attempts in progress, of these the one that waited longest, and a receiver with
   * room for it. Skips no more owners and receivers than slots are taken, since those without any have room.
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

  /**
   * Removes and returns the first waiter of the place. Other waiters of the place go behind those of other receivers,
   * and its owner behind other owners.
   */
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
