/** How a scripted response goes wrong on the network. */

/** Where in a response a fault strikes: before its headers, or after part of its body. */
export type FaultPoint = 'nothing' | { readonly bytes: number } | { readonly events: number };

export type Fault =
  /** Breaks the connection. Default point: after the headers. */
  | { readonly kind: 'reset'; readonly after?: FaultPoint }
  /** Sends nothing more on an open connection, or the rest as soon as `until` resolves. Default point: as above. */
  | { readonly kind: 'stall'; readonly after?: FaultPoint; readonly until?: Promise<unknown> }
  /** Ends cleanly but too early. Default point: half of the body. */
  | { readonly kind: 'truncate'; readonly after?: FaultPoint }
  /** Default: 16 bytes every 2 milliseconds. With a delay of 0, one chunk in each turn of the event loop. */
  | { readonly kind: 'slow'; readonly chunkBytes?: number; readonly delayMs?: number }
  /** A proxy's HTML page instead of the response. Default status: 200. */
  | { readonly kind: 'html'; readonly status?: number }
  /** Resets the connection before the first byte, or at accept if the response is for any vendor. */
  | { readonly kind: 'refuse-connection' }
  /** All events but the last one, then a clean close. */
  | { readonly kind: 'close-without-end-marker' }
  /** Only SSE comments after the point, until the client leaves. Default point: the start. */
  | { readonly kind: 'comments-only'; readonly after?: FaultPoint; readonly everyMs?: number };
