/** How methods are called: by group and name, whether one takes a request id, and whether Meteor may send it again. */
export type MethodKinds = Readonly<Record<string, Readonly<Record<string, 'identified' | 'repeatable' | 'once'>>>>;
