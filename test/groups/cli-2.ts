import { runAreas } from '../groups.ts';

runAreas(['cli'], 2, 3);
