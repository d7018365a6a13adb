package qmgrd.e2e;

/** Prints the level of the client library that is on the class path. */
public final class Version {
    private Version() {
    }

    public static void main(String[] args) {
        System.out.println("client " + com.ibm.mq.MQEnvironment.class.getPackage().getImplementationVersion());
    }
}
