/** Line icons on a 24 by 24 grid. They are decorative and hidden from screen readers; the text beside them counts. */

const PATHS = {
  overview: 'M4 13h6V4H4zM14 20h6V4h-6zM4 20h6v-3H4z',
  runs: 'M4 6h16M4 12h10M4 18h7',
  playground: 'M8 5l11 7-11 7z',
  tools: 'M14.5 6.5a4 4 0 0 0-5.3 5L4 16.7 7.3 20l5.2-5.2a4 4 0 0 0 5-5.3l-2.4 2.4-2.5-.5-.5-2.5z',
  providers: 'M7 18a4.5 4.5 0 0 1-.6-8.96A6 6 0 0 1 18 10.5a3.8 3.8 0 0 1-.5 7.5z',
  inbox: 'M4 13.5L6.5 5h11l2.5 8.5V19H4zM4 13.5h4.5l1.2 2.5h4.6l1.2-2.5H20',
  requests: 'M4 8h13M13.5 4.5L17 8l-3.5 3.5M20 16H7M10.5 12.5L7 16l3.5 3.5',
  route:
    'M5.5 4a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM18.5 16a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM7.5 6h7a3 3 0 0 1 0 6h-5a3 3 0 0 0 0 6h7',
  key: 'M8 10.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM11.2 11.8L20 3.5M16 7.2l2.8 2.8',
  gauge: 'M4.5 18a8.5 8.5 0 1 1 15 0M12 14.5l4-5',
  chart: 'M4 4v16h16M8.5 16v-5M13 16V7.5M17.5 16V10',
  queue: 'M4 5h16v4H4zM4 12.5h16M4 16h16M4 19.5h10',
  audit: 'M12 3.5l7.5 3v5c0 4.6-3.1 7.7-7.5 9-4.4-1.3-7.5-4.4-7.5-9v-5zM8.5 12l2.5 2.5 4.5-4.5',
  filter: 'M4 6h16M7 12h10M10 18h4',
  keyboard: 'M3 6.5h18v11H3zM6.5 10h.01M10 10h.01M14 10h.01M17.5 10h.01M8 14h8',
  menu: 'M4 7h16M4 12h16M4 17h16',
  clock: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 8v4.5l3 1.8',
  spinner: 'M12 3.5a8.5 8.5 0 1 1-7.4 4.3',
  hourglass:
    'M7 3.5h10M7 20.5h10M8 3.5c0 4 3.2 5.4 4 8.5-.8 3.1-4 4.5-4 8.5M16 3.5c0 4-3.2 5.4-4 8.5.8 3.1 4 4.5 4 8.5',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  cross: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
  stop: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM6.2 6.2l11.6 11.6',
  hand: 'M8 12V5.8a1.5 1.5 0 0 1 3 0V11V4.5a1.5 1.5 0 0 1 3 0V11V6a1.5 1.5 0 0 1 3 0v8.5a6 6 0 0 1-6 6c-3 0-4.2-1.3-6-4.5l-1.3-2.4a1.4 1.4 0 0 1 2.3-1.5z',
  eye: 'M2.8 12S6 5.8 12 5.8 21.2 12 21.2 12 18 18.2 12 18.2 2.8 12 2.8 12zM12 9.3a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4z',
  timer: 'M12 6a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15zM9.5 3h5M12 10v4',
  thumbUp:
    'M7 11v9H4v-9zM7 11l4-7.5c1.6 0 2.4 1 2.2 2.4L12.7 9.5H19a1.6 1.6 0 0 1 1.6 1.9l-1.3 7A1.9 1.9 0 0 1 17.4 20H7',
  thumbDown:
    'M7 13V4H4v9zM7 13l4 7.5c1.6 0 2.4-1 2.2-2.4l-.5-3.6H19a1.6 1.6 0 0 0 1.6-1.9l-1.3-7A1.9 1.9 0 0 0 17.4 4H7',
  copy: 'M9 9h10.5v10.5H9zM15 9V4.5H4.5V15H9',
  chevron: 'M9 5.5l6.5 6.5L9 18.5',
  arrow: 'M5 12h14M13 6l6 6-6 6',
  sun: 'M12 7.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4',
  moon: 'M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z',
  screen: 'M3.5 5h17v11h-17zM8.5 20h7M12 16v4',
  exit: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  plug: 'M9 3.5V8M15 3.5V8M6.5 8h11v3a5.5 5.5 0 0 1-11 0zM12 16.5v4',
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5L20 20',
  spark: 'M12 3.5l1.9 5.4 5.6 1.6-5.6 1.9L12 20.5l-1.9-8.1-5.6-1.9 5.6-1.6z',
  flask: 'M9.5 3.5h5M10.5 3.5v6L5.3 18a1.7 1.7 0 0 0 1.5 2.5h10.4a1.7 1.7 0 0 0 1.5-2.5l-5.2-8.5v-6M8 14.5h8',
  image: 'M4 5h16v14H4zM4 16l4.5-4.5 3.5 3.5 3-3 5 5M9 8.2a1.3 1.3 0 1 0 0 2.6 1.3 1.3 0 0 0 0-2.6z',
  file: 'M6 3.5h8l4.5 4.5v12.5H6zM14 3.5V8h4.5',
  clip: 'M8 12.5l6-6a3 3 0 0 1 4.2 4.2l-7.8 7.8a5 5 0 0 1-7-7l7.3-7.4',
  plus: 'M12 5v14M5 12h14',
  bookmark: 'M6.5 4h11v16l-5.5-4.2L6.5 20z',
  code: 'M8.5 7L3.5 12l5 5M15.5 7l5 5-5 5',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, className = '' }: { readonly name: IconName; readonly className?: string }) {
  return (
    <svg
      className={`icon icon-${name} ${className}`}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
