/** Sizes of requests. They are not in http/server.ts, because commands read them, and it loads the framework: 80 ms of CPU time. */

/** The largest JSON body. */
export const bodyBytesMax = 1024 * 1024;
/** The largest request line and headers together; the default of Node. */
export const headerBytesMax = 16 * 1024;
