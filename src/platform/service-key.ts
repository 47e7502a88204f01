/** A name under which a part of the service is found, with the type of what is there. */
export interface ServiceKey<Part> {
  readonly name: string;
  /** Never there: ties the type to the key. */
  readonly part?: Part;
}

export function serviceKey<Part>(name: string): ServiceKey<Part> {
  return Object.freeze({ name });
}
