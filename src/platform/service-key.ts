/** Name of a part of the service, typed by the part it finds. */
export interface ServiceKey<Part> {
  readonly name: string;
  /** Never set: ties the type to the key. */
  readonly part?: Part;
}

export function serviceKey<Part>(name: string): ServiceKey<Part> {
  return Object.freeze({ name });
}
