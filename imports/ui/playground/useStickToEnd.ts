/** Scrolls an element to its end as its content grows, as long as the reader is at the end. */
import { useEffect, useRef } from 'react';
import type { RefObject } from 'react';

/** Pixels from the end within which a reader counts as being there. */
const TOLERANCE = 40;

/** @param messages their number; a new one scrolls to the end wherever the reader is */
export function useStickToEnd(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  messages: number,
): void {
  const isAtEnd = useRef(true);
  useEffect(() => {
    isAtEnd.current = true;
    if (scroller.current !== null) scroller.current.scrollTop = scroller.current.scrollHeight;
  }, [scroller, messages]);
  useEffect(() => {
    const [outer, inner] = [scroller.current, content.current];
    if (outer === null || inner === null || typeof ResizeObserver === 'undefined') return;
    let last = outer.scrollTop;
    const follow = (): void => {
      // Content that has grown since the last scroll is no reason to stop following.
      const hasLeft = outer.scrollTop < last - 1;
      last = outer.scrollTop;
      const isNear = outer.scrollHeight - last - outer.clientHeight <= TOLERANCE;
      isAtEnd.current = isNear || (isAtEnd.current && !hasLeft);
    };
    // Called after layout and before the frame is painted.
    const observer = new ResizeObserver(() => {
      if (!isAtEnd.current) return;
      outer.scrollTop = outer.scrollHeight;
      // Where content has shrunk, that is further up, and the reader has not left.
      last = outer.scrollTop;
    });
    observer.observe(inner);
    observer.observe(outer);
    outer.addEventListener('scroll', follow, { passive: true });
    return () => {
      observer.disconnect();
      outer.removeEventListener('scroll', follow);
    };
  }, [scroller, content]);
}
