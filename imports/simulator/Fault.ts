/** How a scripted response goes wrong on the network. */

/** Where in a response a fault strikes: before its headers, or after part of its body. */
export type FaultPoint = 'nothing' | { readonly bytes: number } | { readonly events: number };

export type Fault =
  /** `reset` breaks the connection; `stall` sends nothing more and keeps it open. Default point: after the headers. */
  | { readonly kind: 'reset' | 'stall'; readonly after?: FaultPoint }
  /** Ends cleanly but too early. Default point: half of the body. */
  | { readonly kind: 'truncate'; readonly after?: FaultPoint }
  /** Default: 16 bytes every 2 milliseconds. */
  | { readonly kind: 'slow'; readonly chunkBytes?: number; readonly delayMs?: number }
  /** A proxy's HTML page instead of the response. Default status: 200. */
  | { readonly kind: 'html'; readonly status?: number }
  /** Resets the connection before the first byte, or at accept if the response is for any vendor. */
  | { readonly kind: 'refuse-connection' }
  /** All events but the last one, then a clean close. */
  | { readonly kind: 'close-without-end-marker' }
  /** Only SSE comments after the point, until the client leaves. Default point: the start. */
  | { readonly kind: 'comments-only'; readonly after?: FaultPoint; readonly everyMs?: number };
